/** A load on Redis through Redisson's locks. */
@NullMarked
package io.lockkeeper.bench.redisson;

import org.jspecify.annotations.NullMarked;
