import * as fc from "fast-check";
import { expect, test } from "vitest";
import { addressKind, type AddressKind } from "./address.ts";

const EXPECTED: Readonly<Record<AddressKind, readonly string[]>> = {
  public: [
    "1.1.1.1",
    "8.8.8.8",
    "93.184.216.34",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.1",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2001:4860:4860::8888",
    "2606:4700:4700::1111",
    "2a00:1450:4001:81b::200e",
    "::ffff:8.8.8.8",
    "::ffff:0:8.8.8.8",
    "::8.8.8.8",
    "64:ff9b::8.8.8.8",
    "2002:808:808::1",
  ],
  private: [
    "127.0.0.1",
    "127.255.255.254",
    "10.0.0.1",
    "10.255.255.255",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "192.168.255.255",
    "169.254.1.1",
    "100.64.0.1",
    "100.127.255.255",
    "::1",
    "fe80::1",
    "fe80::1%eth0",
    "febf::1",
    "fc00::1",
    "fd12:3456:789a::1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::ffff:a00:1",
    "::ffff:0:127.0.0.1",
    "::7f00:1",
    "::c0a8:101",
    "64:ff9b::7f00:1",
    "64:ff9b::10.0.0.1",
    "64:ff9b:1::7f00:1",
    "64:ff9b:1::8.8.8.8",

    "2002:7f00:1::",
    "2002:c0a8:101::1",
    "2002:a00:1:1::5",
    // Teredo: a private client of a public server, then a public client of a private server.
    "2001:0:4136:e378:8000:63bf:3f57:fefe",
    "2001:0:a00:1:8000:63bf:f7f7:f7f7",
  ],
  never: [
    "0.0.0.0",
    "0.1.2.3",
    "169.254.169.254",
    "169.254.170.2",
    "168.63.129.16",
    "192.0.0.192",
    "100.100.100.200",
    "fd00:ec2::254",
    "fd20:ce::254",
    "::ffff:169.254.169.254",
    "::a9fe:a9fe",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::a9fe:a9fe",
    "64:ff9b:1:a9fe:a9:fe00::",
    "2002:a9fe:a9fe::1",
    "2001:0:a9fe:a9fe::f7f7:f7f7",
    "2001:0:808:808::5601:5601",
    "192.0.0.1",
    "192.0.2.1",
    "198.51.100.7",
    "203.0.113.200",
    "192.88.99.1",
    "198.18.0.1",
    "198.19.255.255",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::ffff:0.0.0.0",
    "64:ff9b::",
    "2002::1",
    "ff02::1",
    "ff0e::1",
    "fec0::1",
    "100::1",
    "2001:db8::1",
    "3fff::1",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "5f00::1",
    "4000::1",
    "e000::1",
    "",
    "example.com",
    "127.1",
    "0177.0.0.1",
    "0x7f.0.0.1",
    "2130706433",
    "127.0.0.1 ",
    "1.2.3.4.5",
  ],
};

for (const [kind, addresses] of Object.entries(EXPECTED)) {
  test(`addresses that are ${kind} (WEB-06, WEB-07, WEB-08)`, () => {
    const wrong = addresses.filter((address) => addressKind(address) !== kind);
    expect(wrong).toEqual([]);
  });
}

/** The special blocks of the IANA registry, as numbers, independently of the library. */
function isSpecial(address: number): boolean {
  const within = (first: string, bits: number): boolean =>
    Math.floor(address / 2 ** (32 - bits)) === Math.floor(numberOf(first) / 2 ** (32 - bits));
  return (
    within("0.0.0.0", 8) ||
    within("10.0.0.0", 8) ||
    within("100.64.0.0", 10) ||
    within("127.0.0.0", 8) ||
    within("169.254.0.0", 16) ||
    within("172.16.0.0", 12) ||
    within("192.0.0.0", 24) ||
    within("192.0.2.0", 24) ||
    within("192.31.196.0", 24) ||
    within("192.52.193.0", 24) ||
    within("192.88.99.0", 24) ||
    within("192.168.0.0", 16) ||
    within("192.175.48.0", 24) ||
    within("198.18.0.0", 15) ||
    within("198.51.100.0", 24) ||
    within("203.0.113.0", 24) ||
    within("224.0.0.0", 3) ||
    within("168.63.129.16", 32)
  );
}

function numberOf(dotted: string): number {
  return dotted.split(".").reduce((value, part) => value * 256 + Number(part), 0);
}

const blocks = [
  "10.0.0.0",
  "100.64.0.0",
  "127.0.0.0",
  "169.254.0.0",
  "172.16.0.0",
  "192.0.0.0",
  "192.168.0.0",
  "224.0.0.0",
];
const near_blocks = fc.tuple(fc.constantFrom(...blocks.map(numberOf)), fc.integer({ min: -70_000, max: 70_000 }));
const any_address = fc.oneof(
  fc.nat(2 ** 32 - 1),
  near_blocks.map(([start, offset]) => start + offset),
);

test("an address is public exactly when no special block holds it, however it is wrapped", () => {
  fc.assert(
    fc.property(any_address, (address) => {
      const bytes = [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256);
      const hex = (values: number[]): string =>
        `${((values[0]! << 8) | values[1]!).toString(16)}:${((values[2]! << 8) | values[3]!).toString(16)}`;
      const dotted = bytes.join(".");
      const kind = addressKind(dotted);
      expect(kind === "public").toBe(!isSpecial(address));
      expect(addressKind(`::ffff:${dotted}`)).toBe(kind);
      expect(addressKind(`64:ff9b::${hex(bytes)}`)).toBe(kind);
      expect(addressKind(`2002:${hex(bytes)}::1`)).toBe(kind);
      expect(addressKind(`2001:0:808:808:0:0:${hex(bytes.map((byte) => byte ^ 0xff))}`)).toBe(kind);
      expect(addressKind(`64:ff9b:1::${hex(bytes)}`)).toBe(kind === "public" ? "private" : kind);
    }),
    { numRuns: 2_000 },
  );
});
