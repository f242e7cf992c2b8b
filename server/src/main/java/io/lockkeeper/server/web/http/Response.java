package io.lockkeeper.server.web.http;

/** What a request is answered with. */
public sealed interface Response permits Page, EventStream {}
