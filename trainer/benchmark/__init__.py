"""Does a sandbox keep training alive, at no cost to learning? RFC 0014 is the contract."""

import os
import sys

# From a checkout the package `paddock` lies beside this one, installed or not.
_SOURCE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src")
if os.path.isdir(os.path.join(_SOURCE, "paddock")) and _SOURCE not in sys.path:
    sys.path.insert(0, _SOURCE)
