# SPDX-License-Identifier: MIT
# The page of reports: web/ bundled by npm into two files, which the library embeds. Without Node.js, or where its
# packages cannot be had, empty files stand in and reports are plain tables.
option(UDV_PAGE "Build the page of reports where Node.js is found" ON)
find_program(UDV_NODE NAMES node nodejs)
find_program(UDV_NPM npm)

set(udv_page_folder ${PROJECT_BINARY_DIR}/web)
set(udv_pages ${udv_page_folder}/dist/report.html ${udv_page_folder}/dist/watch.html)
# A source archive carries the pages as they were built.
set(udv_built_page ${PROJECT_SOURCE_DIR}/web/dist/report.html)
if(EXISTS ${udv_built_page} AND NOT EXISTS ${PROJECT_SOURCE_DIR}/.git)
  file(COPY ${PROJECT_SOURCE_DIR}/web/dist DESTINATION ${udv_page_folder})
elseif(UDV_PAGE AND UDV_NODE AND UDV_NPM)
  file(GLOB_RECURSE udv_page_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/src/*)
  list(APPEND udv_page_sources ${PROJECT_SOURCE_DIR}/web/package.json
       ${PROJECT_SOURCE_DIR}/web/package-lock.json ${PROJECT_SOURCE_DIR}/web/build.mjs)
  add_custom_command(
    OUTPUT ${udv_pages}
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR}/web -DFOLDER=${udv_page_folder}
            -DNODE=${UDV_NODE} -DNPM=${UDV_NPM} -P ${PROJECT_SOURCE_DIR}/cmake/build_page.cmake
    DEPENDS ${udv_page_sources} ${PROJECT_SOURCE_DIR}/cmake/build_page.cmake
    COMMENT "Bundling the page of reports" VERBATIM)
else()
  foreach(page ${udv_pages})
    file(WRITE ${page} "")
  endforeach()
endif()
