/** Commands that run a server, or check what one needs. */
@NullMarked
package io.lockkeeper.cli.server;

import org.jspecify.annotations.NullMarked;
