/**
 * What the program is to the shell that starts it: exit codes, signals, the terminal, the values of
 * options.
 */
@NullMarked
package io.lockkeeper.cli.shell;

import org.jspecify.annotations.NullMarked;
