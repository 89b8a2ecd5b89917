# SPDX-License-Identifier: MIT
# Manual pages, completion scripts and the reference page, written by the program from the tables
# of its options. The tables of finetune, lora and generate are in udv-deep alone: where it is
# built, udv hands the work to it.
option(UDV_COMPRESS_MANUAL "Install manual pages compressed, as packages have them" OFF)
set(udv_manual ${PROJECT_BINARY_DIR}/manual)
set(udv_zsh_folder site-functions)  # of this machine; packages have another
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(udv_zsh_folder vendor-completions)
endif()
set(udv_manual_programs udv_cli)
if(UDV_WITH_DEEP)
  list(APPEND udv_manual_programs udv_deep_cli)
endif()
if(UDV_COMPRESS_MANUAL)
  set(udv_compress_manual COMMAND sh -c "gzip -9n ${udv_manual}/man/*.1")
endif()
add_custom_command(
  OUTPUT ${udv_manual}/commands.md
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${udv_manual}
  COMMAND udv_cli pages ${udv_manual}
  ${udv_compress_manual}
  DEPENDS ${udv_manual_programs}
  COMMENT "Writing manual pages and completion scripts"
  VERBATIM)
add_custom_target(udv_manual ALL DEPENDS ${udv_manual}/commands.md)

install(DIRECTORY ${udv_manual}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
        COMPONENT program)
install(FILES ${udv_manual}/completions/udv.bash
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME udv
        COMPONENT program)
install(FILES ${udv_manual}/completions/_udv
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/${udv_zsh_folder} COMPONENT program)
install(FILES ${udv_manual}/completions/udv.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
