/** Settings that every test runs with. */
@org.jspecify.annotations.NullMarked
package io.lockkeeper.testsupport;
