/** Which shard serves a namespace: the table, as values. */
@NullMarked
package io.lockkeeper.server.core.shard;

import org.jspecify.annotations.NullMarked;
