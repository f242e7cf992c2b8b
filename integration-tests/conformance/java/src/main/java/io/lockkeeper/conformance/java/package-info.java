/** Drives the client for Java by the line protocol of the conformance kit. */
@NullMarked
package io.lockkeeper.conformance.java;

import org.jspecify.annotations.NullMarked;
