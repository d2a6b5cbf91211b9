# cmake -DOUT=FILE.cpp -DFOLDER=web/dist -P embed.cmake: a C++ source that holds the page's script,
# style and the hash by which its policy lets the script run. Parts, because compilers limit how
# long one literal may be.
function(literal name file)
  file(READ ${FOLDER}/${file} text)
  string(LENGTH "${text}" length)
  set(parts "")
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 30000 part)
    string(FIND "${part}" ")accsim\"" ends)
    if(NOT ends EQUAL -1)
      message(FATAL_ERROR "${file} holds what ends a literal")
    endif()
    string(APPEND parts "    R\"accsim(${part})accsim\"sv,\n")
    math(EXPR at "${at} + 30000")
  endwhile()
  file(APPEND ${OUT}.new
    "const std::vector<std::string_view>& ${name}() {\n"
    "  static const std::vector<std::string_view> parts = {\n${parts}  };\n"
    "  return parts;\n}\n\n")
endfunction()

file(WRITE ${OUT}.new "// Made of web/dist by scripts/embed.cmake.\n"
  "#include \"sim/html/assets.h\"\n\n"
  "namespace accsim::sim {\nusing namespace std::string_view_literals;\n\n")
literal(page_script accsim.js)
literal(page_style accsim.css)
literal(page_script_hash accsim.js.sha256)
file(APPEND ${OUT}.new "}  // namespace accsim::sim\n")
file(RENAME ${OUT}.new ${OUT})
