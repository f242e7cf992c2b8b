/**
 * Starts the systems and their loads, measures round by round, and writes what came out. Run by
 * {@code make bench}.
 */
@NullMarked
package io.lockkeeper.bench.runner;

import org.jspecify.annotations.NullMarked;
