/**
 * Keeps locks and leases in memory: for tests, and for programs that test their own use of locks.
 */
@NullMarked
package io.lockkeeper.server.memory;

import org.jspecify.annotations.NullMarked;
