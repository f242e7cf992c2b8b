/** A load on etcd's lock service. */
@NullMarked
package io.lockkeeper.bench.etcd;

import org.jspecify.annotations.NullMarked;
