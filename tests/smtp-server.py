#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A mail server on loopback that keeps what it takes, for the tests of submit.sh.

usage: smtp-server.py DIR [--tls CERT KEY] [--login USER PASSWORD] [--fail-at N]

Writes the port to DIR/port once it listens, each mail that it takes to
DIR/N.eml (from 1), with sender and recipients in DIR/N.to, and "tls" and "auth"
to DIR/log, for each mail that came so. With --fail-at the Nth mail is refused,
once.
"""

import argparse
import asyncio
import os
import ssl

from aiosmtpd.smtp import SMTP, AuthResult


class Keep:
    def __init__(self, folder, fail_at):
        self.folder, self.fail_at, self.taken = folder, fail_at, 0

    def log(self, text):
        with open(os.path.join(self.folder, "log"), "a") as log:
            log.write(text + "\n")

    async def handle_MAIL(self, server, session, envelope, address, options):
        if session.ssl:
            self.log("tls")
        if session.authenticated:
            self.log("auth")
        envelope.mail_from = address
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        if self.fail_at and self.taken + 1 == self.fail_at:
            self.fail_at = 0
            return "451 4.3.2 out of order, try again later"
        self.taken += 1
        name = os.path.join(self.folder, str(self.taken))
        with open(name + ".eml", "wb") as mail:
            mail.write(envelope.original_content.replace(b"\r\n", b"\n"))
        with open(name + ".to", "w") as to:
            to.write("\n".join([envelope.mail_from] + envelope.rcpt_tos) + "\n")
        return "250 OK"


def main():
    args = argparse.ArgumentParser()
    args.add_argument("folder")
    args.add_argument("--tls", nargs=2)
    args.add_argument("--login", nargs=2)
    args.add_argument("--fail-at", type=int, default=0)
    args = args.parse_args()
    more = {}
    if args.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*args.tls)
        more.update(tls_context=context, require_starttls=True)
    if args.login:
        want = [x.encode() for x in args.login]

        def check(server, session, envelope, mechanism, data):
            good = [data.login, data.password] == want
            return AuthResult(success=good)

        more.update(authenticator=check, auth_required=True)
    asyncio.run(serve(args.folder, Keep(args.folder, args.fail_at), more))


async def serve(folder, keep, more):
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: SMTP(keep, hostname="localhost", **more),
                                      "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    with open(os.path.join(folder, "port.new"), "w") as out:
        out.write(f"{port}\n")
    os.rename(os.path.join(folder, "port.new"), os.path.join(folder, "port"))
    await server.serve_forever()


if __name__ == "__main__":
    main()
