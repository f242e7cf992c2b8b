/** Commands that change what the servers do. */
@NullMarked
package io.lockkeeper.cli.admin;

import org.jspecify.annotations.NullMarked;
