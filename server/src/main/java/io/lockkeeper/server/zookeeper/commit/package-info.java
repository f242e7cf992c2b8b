/** Group commit: writes gathered into fenced transactions, and what became of those in doubt. */
@NullMarked
package io.lockkeeper.server.zookeeper.commit;

import org.jspecify.annotations.NullMarked;
