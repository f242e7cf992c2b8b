/**
 * A small Micronaut application that uses the client: a shop whose stock one instance sells from.
 */
@NullMarked
package io.lockkeeper.examples.micronaut;

import org.jspecify.annotations.NullMarked;
