/** HTTP/1.1: connections, requests and answers, whatever the pages say. */
@NullMarked
package io.lockkeeper.server.web.http;

import org.jspecify.annotations.NullMarked;
