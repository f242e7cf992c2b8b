/**
 * The contract of a load: a JVM whose clients take and release locks as fast as they can, and that
 * is told line by line what to do.
 */
@NullMarked
package io.lockkeeper.bench.load;

import org.jspecify.annotations.NullMarked;
