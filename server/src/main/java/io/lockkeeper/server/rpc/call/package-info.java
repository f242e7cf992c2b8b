/** What every call has: guards, limits, windows, streams that are read slowly. */
@NullMarked
package io.lockkeeper.server.rpc.call;

import org.jspecify.annotations.NullMarked;
