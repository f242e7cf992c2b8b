/**
 * For the tests of programs that use Lockkeeper: a server in memory, and a clock that is moved by
 * hand.
 */
@NullMarked
package io.lockkeeper.testing;

import org.jspecify.annotations.NullMarked;
