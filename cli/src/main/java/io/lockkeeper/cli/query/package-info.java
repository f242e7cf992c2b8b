/** Commands that look, and change nothing. */
@NullMarked
package io.lockkeeper.cli.query;

import org.jspecify.annotations.NullMarked;
