/** A shop that runs in several instances. */
@NullMarked
package io.lockkeeper.example.spring;

import org.jspecify.annotations.NullMarked;
