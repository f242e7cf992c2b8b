/** Locks around the methods of Spring beans: {@link io.lockkeeper.spring.Locked}. */
@NullMarked
package io.lockkeeper.spring;

import org.jspecify.annotations.NullMarked;
