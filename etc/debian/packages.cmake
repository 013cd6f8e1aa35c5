# etc/debian/packages.cmake - what cpack makes: mlx5fwd, libm5io0.1, libm5io-dev
#
# Each is a component of the installation. The same sources give the same bytes: times in a
# package are that of the newest entry of `changelog`, and compilers are told no path.
execute_process(COMMAND dpkg-parsechangelog -l ${CMAKE_CURRENT_LIST_DIR}/changelog -S Version
	OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND dpkg-parsechangelog -l ${CMAKE_CURRENT_LIST_DIR}/changelog -S Timestamp
	OUTPUT_VARIABLE epoch OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND dpkg-parsechangelog -l ${CMAKE_CURRENT_LIST_DIR}/changelog -S Maintainer
	OUTPUT_VARIABLE maintainer OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
if(NOT version STREQUAL PROJECT_VERSION)
	message(FATAL_ERROR "etc/debian/changelog: ${version}, CMakeLists.txt: ${PROJECT_VERSION}")
endif()

# ---- what every package has ----

set(packages mlx5fwd ${M5IO_PACKAGE} libm5io-dev)
foreach(package ${packages})
	install(FILES ${CMAKE_CURRENT_LIST_DIR}/copyright ${CMAKE_CURRENT_LIST_DIR}/changelog
		DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${package})
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
	DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/mlx5fwd)

# Policy 12.1 and 12.7. The last step of an installation, without names and times.
foreach(package ${packages})
	install(CODE "
		set(share \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/share\")
		file(GLOB files \"\${share}/man/man*/*.[0-9]\" \"\${share}/doc/*/changelog\"
			\"\${share}/doc/*/CHANGELOG.md\")
		execute_process(COMMAND gzip -9nf \${files} COMMAND_ERROR_IS_FATAL ANY)"
		COMPONENT ${package})
endforeach()

# ---- scripts and tables of dpkg ----

set(made ${CMAKE_CURRENT_BINARY_DIR}/debian)
file(MAKE_DIRECTORY ${made})
set(units mlx5fwd-control.socket mlx5fwd-metrics.socket mlx5fwd-read.socket
	mlx5fwd.service)
list(JOIN units " " UNITS)
foreach(script postinst prerm postrm)
	configure_file(${CMAKE_CURRENT_LIST_DIR}/${script} ${made}/${script} @ONLY)
endforeach()
file(WRITE ${made}/conffiles "${CONFIG_DIR}/mlx5fwd.conf\n")
file(WRITE ${made}/shlibs
	"libm5io ${M5IO_SOVERSION} ${M5IO_PACKAGE} (>= ${PROJECT_VERSION})\n")
file(WRITE ${made}/triggers "activate-noawait ldconfig\n")

# ---- cpack ----

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_NAME mlx5fwd)
set(CPACK_PACKAGE_CONTACT ${maintainer})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each has its own
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR})
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_STRIP_FILES ON) # CPack 3.25 puts a path of this machine into -dbgsym packages
set(CPACK_THREADS 1)
set(CPACK_COMPONENTS_ALL ${packages})
set(CPACK_PROJECT_CONFIG_FILE ${made}/cpack.cmake)
# As dpkg-buildpackage: times of the changelog, and what others may read. CPack takes the modes of
# folders and of the package's own parts from the umask.
file(WRITE ${made}/cpack.cmake "set(ENV{SOURCE_DATE_EPOCH} ${epoch})
execute_process(COMMAND sh -c umask OUTPUT_VARIABLE umask OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT umask STREQUAL 0022)
	message(FATAL_ERROR \"umask is \${umask}: packages are made with 0022\")
endif()
")

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/lib)
set(CPACK_DEBIAN_PACKAGE_SOURCE mlx5fwd)

function(package name section summary text)
	string(TOUPPER ${name} key)
	cmake_parse_arguments(p "" "ARCH;DEPENDS;RECOMMENDS;SUGGESTS" "CONTROL" ${ARGN})
	set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name} PARENT_SCOPE)
	set(CPACK_DEBIAN_${key}_PACKAGE_SECTION ${section} PARENT_SCOPE)
	set(CPACK_DEBIAN_${key}_PACKAGE_DEPENDS "${p_DEPENDS}" PARENT_SCOPE)
	set(CPACK_DEBIAN_${key}_PACKAGE_RECOMMENDS "${p_RECOMMENDS}" PARENT_SCOPE)
	set(CPACK_DEBIAN_${key}_PACKAGE_SUGGESTS "${p_SUGGESTS}" PARENT_SCOPE)
	list(TRANSFORM p_CONTROL PREPEND ${made}/)
	set(CPACK_DEBIAN_${key}_PACKAGE_CONTROL_EXTRA "${p_CONTROL}" PARENT_SCOPE)
	set(CPACK_COMPONENT_${key}_DESCRIPTION "${summary}\n${text}" PARENT_SCOPE)
endfunction()

# ip, rdma and the card's kernel modules are not needed to start, but by whoever runs it.
package(mlx5fwd net "L3 router on NVIDIA ConnectX ports"
"Forwards IPv4 and IPv6 between ConnectX (5 and newer) or BlueField ports by
queues of its own on the card, while Linux keeps the interfaces. What it does
not take, and everything when it is not running, the kernel handles.
.
With mlx5fwdctl, which talks to the daemon, and mlx5pkt, which talks to a card.
Installing it neither enables nor starts the service."
	DEPENDS "init-system-helpers (>= 1.54), systemd | systemd-standalone-sysusers"
	RECOMMENDS "rdma-core, iproute2"
	SUGGESTS "prometheus, bash-completion"
	CONTROL conffiles postinst prerm postrm)
package(${M5IO_PACKAGE} libs "packet I/O on ConnectX ports over Direct Verbs"
"Queues, steering rules and memory of NVIDIA ConnectX ports, for programs that
receive and send frames without copies while Linux keeps the interface."
	CONTROL shlibs triggers)
package(libm5io-dev libdevel "packet I/O on ConnectX ports over Direct Verbs, to build with"
"Headers, both libraries, m5io.pc, and an example that sends back what comes."
	DEPENDS "${M5IO_PACKAGE} (= ${PROJECT_VERSION}), libibverbs-dev, libnuma-dev")
include(CPack)
