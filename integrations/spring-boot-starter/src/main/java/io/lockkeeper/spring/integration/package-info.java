/** Lockkeeper behind the interfaces of Spring Integration. */
@NullMarked
package io.lockkeeper.spring.integration;

import org.jspecify.annotations.NullMarked;
