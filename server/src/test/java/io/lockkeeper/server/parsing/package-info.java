/** Everything that reads what others wrote, against input that nobody would write. */
package io.lockkeeper.server.parsing;
