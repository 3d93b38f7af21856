# add_text_literal(TARGET FILE VARIABLE NAMESPACE HEADER): TARGET has the text of FILE as the
# `extern const std::string_view VARIABLE` that HEADER declares in NAMESPACE.
function(add_text_literal target file variable namespace header)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${variable}.cpp)
  set(script ${PROJECT_SOURCE_DIR}/cmake/write_text_literal.cmake)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -D FILE=${CMAKE_CURRENT_SOURCE_DIR}/${file} -D VARIABLE=${variable}
            -D NAMESPACE=${namespace} -D HEADER=${header} -D OUTPUT=${output} -P ${script}
    DEPENDS ${file} ${script}
    COMMENT "Writing ${file} as a literal" VERBATIM)
  add_library(${variable} OBJECT ${output})  # where the command is, as it has to be
  target_compile_features(${variable} PRIVATE cxx_std_20)
  target_include_directories(${variable} PRIVATE ${PROJECT_SOURCE_DIR})
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${variable}>)
endfunction()
