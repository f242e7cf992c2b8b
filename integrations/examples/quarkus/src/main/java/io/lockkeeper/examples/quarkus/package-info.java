/** A small Quarkus application that uses the client: a shop whose stock one instance sells from. */
@NullMarked
package io.lockkeeper.examples.quarkus;

import org.jspecify.annotations.NullMarked;
