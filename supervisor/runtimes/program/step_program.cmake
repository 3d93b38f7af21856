# cmake -D SOURCE=step.py -D OUTPUT=warm_step_program.cpp -P step_program.cmake
file(READ ${SOURCE} program)
file(WRITE ${OUTPUT} "// Made from supervisor/runtimes/program/step.py by the build.\n#include \"supervisor/runtimes/warm_step.hpp\"\n
namespace paddock::supervisor {\n
const std::string_view warm_step_program = R\"PADDOCK(${program})PADDOCK\";\n
}  // namespace paddock::supervisor\n")
