/** Words, tables and JSON for what the servers tell. */
@NullMarked
package io.lockkeeper.cli.text;

import org.jspecify.annotations.NullMarked;
