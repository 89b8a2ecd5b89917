# SPDX-License-Identifier: MIT
# cmake -DSOURCE=web -DFOLDER=where -DNODE=... -DNPM=... -P build_page.cmake: leaves FOLDER/dist/{report,watch}.html,
# empty where the packages cannot be had. The packages are asked for only when the lock file has changed.
file(COPY ${SOURCE}/ DESTINATION ${FOLDER} PATTERN node_modules EXCLUDE PATTERN dist EXCLUDE PATTERN tests EXCLUDE)
file(SHA256 ${SOURCE}/package-lock.json lock)
set(stamp ${FOLDER}/node_modules/.udv-lock)
set(known "")
if(EXISTS ${stamp})
  file(READ ${stamp} known)
endif()
set(failed 0)
if(NOT known STREQUAL lock)
  execute_process(COMMAND ${NPM} ci --omit=dev --no-audit --no-fund --silent WORKING_DIRECTORY ${FOLDER}
                  RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output TIMEOUT 600)
  if(failed EQUAL 0)
    file(WRITE ${stamp} ${lock})
  endif()
endif()
if(failed EQUAL 0)
  execute_process(COMMAND ${NODE} build.mjs ${FOLDER}/dist WORKING_DIRECTORY ${FOLDER}
                  RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
endif()
if(NOT failed EQUAL 0)
  message("udv: the page of reports could not be built, reports will be plain tables: ${output}")
  foreach(page report watch)
    file(WRITE ${FOLDER}/dist/${page}.html "")
  endforeach()
endif()
