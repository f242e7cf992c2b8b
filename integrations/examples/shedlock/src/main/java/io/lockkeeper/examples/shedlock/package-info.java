/** A scheduled job that runs in one of several instances at a time. */
@NullMarked
package io.lockkeeper.examples.shedlock;

import org.jspecify.annotations.NullMarked;
