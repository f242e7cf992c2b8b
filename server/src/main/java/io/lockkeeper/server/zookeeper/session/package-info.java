/** One lock session from its start to its end: opened or adopted, proved, closed. */
@NullMarked
package io.lockkeeper.server.zookeeper.session;

import org.jspecify.annotations.NullMarked;
