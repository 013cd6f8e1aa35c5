# lib/m5io.cmake - libm5io as others use it: shared and static, headers, m5io.pc
#
# What programs may call is in m5io.symbols, and other names are visible in neither library.
# Much of the packet path is inline, so a program knows the layout of the library's structs: any
# 0.x is a library of its own (soname libm5io.so.0.x), and several can be installed.
set(M5IO_SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(M5IO_PACKAGE libm5io${M5IO_SOVERSION})
set(M5IO_SOVERSION ${M5IO_SOVERSION} PARENT_SCOPE)
set(M5IO_PACKAGE ${M5IO_PACKAGE} PARENT_SCOPE)

set(symbols ${CMAKE_CURRENT_SOURCE_DIR}/m5io.symbols)
set(map ${CMAKE_CURRENT_BINARY_DIR}/m5io.map)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${symbols})
file(STRINGS ${symbols} names)
list(JOIN names "; " names)
file(CONFIGURE OUTPUT ${map} CONTENT "M5IO_@M5IO_SOVERSION@ { global: @names@; local: *; };\n" @ONLY)

add_library(m5io_shared SHARED ${m5io_c})
target_compile_definitions(m5io_shared PRIVATE _GNU_SOURCE)
target_link_libraries(m5io_shared PRIVATE warnings sanitizers Threads::Threads
	PkgConfig::RDMA PkgConfig::NUMA)
target_link_options(m5io_shared PRIVATE -Wl,-z,defs -Wl,--version-script=${map})
set_target_properties(m5io_shared PROPERTIES OUTPUT_NAME m5io VERSION ${PROJECT_VERSION}
	SOVERSION ${M5IO_SOVERSION} LINK_DEPENDS ${map})
install(TARGETS m5io_shared LIBRARY COMPONENT ${M5IO_PACKAGE} NAMELINK_COMPONENT libm5io-dev)

# One object, so that the rest of its names can be hidden.
set(archive ${CMAKE_CURRENT_BINARY_DIR}/static/libm5io.a)
add_custom_command(OUTPUT ${archive} DEPENDS m5io_shared ${symbols}
	COMMAND ${CMAKE_COMMAND} -E rm -f ${archive}
	COMMAND ${CMAKE_COMMAND} -E make_directory static
	COMMAND ${CMAKE_LINKER} -r -o m5io.o $<TARGET_OBJECTS:m5io_shared>
	COMMAND ${CMAKE_OBJCOPY} --strip-debug --keep-global-symbols=${symbols} m5io.o
	COMMAND ${CMAKE_AR} Drcs ${archive} m5io.o
	WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} COMMAND_EXPAND_LISTS VERBATIM)
add_custom_target(m5io_static ALL DEPENDS ${archive})

configure_file(m5io.pc.in m5io.pc @ONLY)
install(FILES ${archive} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libm5io-dev)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/m5io.pc
	DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT libm5io-dev)

# Headers that programs include, and what those include.
set(todo m5/clock.h m5/rx_hot.h m5/steer.h m5/tx_hot.h)
set(headers)
while(todo)
	list(POP_FRONT todo header)
	if(header IN_LIST headers)
		continue()
	endif()
	list(APPEND headers ${header})
	cmake_path(GET header PARENT_PATH folder)
	file(STRINGS ${header} lines REGEX "^#include \"")
	foreach(line ${lines})
		string(REGEX REPLACE ".*\"(.*)\".*" "${folder}/\\1" path ${line})
		cmake_path(NORMAL_PATH path)
		list(APPEND todo ${path})
	endforeach()
	install(FILES ${header} COMPONENT libm5io-dev
		DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/m5io/${folder})
endwhile()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers})
install(FILES example/reflect.c COMPONENT libm5io-dev
	DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libm5io-dev/examples)
