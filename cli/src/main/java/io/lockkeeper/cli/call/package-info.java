/** Which servers to talk to, how, and as whom. */
@NullMarked
package io.lockkeeper.cli.call;

import org.jspecify.annotations.NullMarked;
