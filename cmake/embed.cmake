# cmake -DIN=FILE -DOUT=FILE.c -DNAME=NAME -P embed.cmake: the bytes of a file
# as a constant array of C that ends with a NUL.
file(READ ${IN} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)"
  "\\1\n" bytes "${bytes}")
file(WRITE ${OUT} "extern const char ${NAME}[];
const char ${NAME}[] = {
${bytes}0
};
")
