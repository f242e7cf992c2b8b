/** A shop that runs in several instances. */
@NullMarked
package io.lockkeeper.examples.spring;

import org.jspecify.annotations.NullMarked;
