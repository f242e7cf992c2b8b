/** Makes the client and what uses it from the application's properties and beans. */
@NullMarked
package io.lockkeeper.spring.autoconfigure;

import org.jspecify.annotations.NullMarked;
