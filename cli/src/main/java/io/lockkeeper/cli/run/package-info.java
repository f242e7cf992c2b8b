/** Commands that hold a lock. */
@NullMarked
package io.lockkeeper.cli.run;

import org.jspecify.annotations.NullMarked;
