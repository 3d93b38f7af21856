# tries: sys.exit(0) while it is loaded
# pays: exit_status files
import sys

sys.exit(0)
