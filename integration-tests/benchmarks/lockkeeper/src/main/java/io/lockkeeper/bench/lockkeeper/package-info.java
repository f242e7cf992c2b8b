/** Loads on Lockkeeper through its client library, and bare gRPC as its limit. */
@NullMarked
package io.lockkeeper.bench.lockkeeper;

import org.jspecify.annotations.NullMarked;
