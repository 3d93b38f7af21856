# cmake -D FILE= -D VARIABLE= -D NAMESPACE= -D HEADER= -D OUTPUT= -P write_text_literal.cmake
cmake_path(GET FILE FILENAME name)
file(READ ${FILE} text)
file(WRITE ${OUTPUT} "// Made from ${name} by the build.\n#include \"${HEADER}\"\n
namespace ${NAMESPACE} {\n
const std::string_view ${VARIABLE} = R\"PADDOCK(${text})PADDOCK\";\n
}  // namespace ${NAMESPACE}\n")
