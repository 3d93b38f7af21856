# cmake -D SOURCE=zygote.py -D OUTPUT=zygote_program.cpp -P zygote_program.cmake
file(READ ${SOURCE} program)
file(WRITE ${OUTPUT} "// Made from kernel/warm/zygote.py by the build.\n#include \"kernel/warm/zygote_program.hpp\"\n
namespace paddock::kernel {\n
const std::string_view zygote_program = R\"PADDOCK(${program})PADDOCK\";\n
}  // namespace paddock::kernel\n")
