/** The command line: the server, the development server and the client commands. */
@NullMarked
package io.lockkeeper.cli;

import org.jspecify.annotations.NullMarked;
