/** The oversold stock, see {@code demo.sh}. Compiled against the program's jar alone. */
package io.lockkeeper.integration.demo;
