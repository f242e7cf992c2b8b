/** A lease from its opening to its end, and the streams that listen to it. */
@NullMarked
package io.lockkeeper.server.core.lease;

import org.jspecify.annotations.NullMarked;
