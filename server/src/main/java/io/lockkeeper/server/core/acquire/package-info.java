/** One acquisition from its request to its end: placement, grant, wait, delay, limit, deletion. */
@NullMarked
package io.lockkeeper.server.core.acquire;

import org.jspecify.annotations.NullMarked;
