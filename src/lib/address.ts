import ipaddr from "ipaddr.js";
import { isIP } from "node:net";

/**
 * Who may be reached at an IP address. `public`: anyone on the internet. `private`: this machine, its network or its
 * provider's; an owner may open such a host by name. `never`: what no page lies at, such as multicast, documentation
 * and reserved ranges, and the addresses from which clouds hand credentials to their machines.
 */
export type AddressKind = "public" | "private" | "never";

/** What an owner may have a host in. */
const PRIVATE_RANGES: ReadonlySet<string> = new Set([
  "loopback",
  "private",
  "linkLocal",
  "uniqueLocal",
  "carrierGradeNat",
]);

/** Metadata services, as their clouds document them; most give out credentials to whoever asks. */
const METADATA_ADDRESSES: ReadonlySet<string> = new Set([
  "169.254.169.254", // AWS, Azure, Google, Oracle and most others
  "169.254.170.2", // AWS ECS
  "169.254.170.23", // AWS EKS
  "169.254.42.42", // Scaleway
  "169.254.0.23", // Tencent
  "168.63.129.16", // Azure's wire server
  "192.0.0.192", // Oracle
  "100.100.100.200", // Alibaba
  "fd00:ec2::254", // AWS
  "fd00:ec2::23", // AWS EKS
  "fd20:ce::254", // Google
  "fd00:42::42", // Scaleway
  "fd00:c1::a9fe:a9fe", // Oracle
]);

/** Judges an address as `dns.lookup` and sockets write it. Whatever wraps an IPv4 address is judged by that one too. */
export function addressKind(text: string): AddressKind {
  if (isIP(text) === 0) return "never";
  const address = ipaddr.parse(text);
  if (address.kind() === "ipv4") return ipv4Kind(address.toByteArray());
  return ipv6Kind(address.toByteArray(), address.range());
}

function ipv4Kind(bytes: number[]): AddressKind {
  const address = ipaddr.fromByteArray(bytes);
  if (METADATA_ADDRESSES.has(address.toString())) return "never";
  return rangeKind(address.range());
}

function ipv6Kind(bytes: number[], range: string): AddressKind {
  if (METADATA_ADDRESSES.has(ipaddr.fromByteArray(bytes).toString())) return "never";
  switch (range) {
    case "ipv4Mapped":
    case "rfc6145":
      return ipv4Kind(bytes.slice(12));
    case "6to4":
      return ipv4Kind(bytes.slice(2, 6));
    case "teredo":
      // RFC 4380: the relay's server, and the client with every bit turned.
      return strictest(ipv4Kind(bytes.slice(4, 8)), ipv4Kind(bytes.slice(12).map((byte) => byte ^ 0xff)));
    case "rfc6052":
      // RFC 8215: 64:ff9b:1::/48 is each network's own, so what it leads to is private at best.
      return strictest(ipv4Kind(bytes.slice(12)), bytes[5] === 1 ? "private" : "public");
    case "unicast":
      // RFC 4291 section 2.5.5.1: IPv4-compatible, no longer in use but still understood.
      if (bytes.slice(0, 12).every((byte) => byte === 0)) return ipv4Kind(bytes.slice(12));
      // IANA has given out nothing outside 2000::/3.
      return (bytes[0] ?? 0) >> 5 === 1 ? "public" : "never";
    default:
      return rangeKind(range);
  }
}

function rangeKind(range: string): AddressKind {
  if (range === "unicast") return "public";
  return PRIVATE_RANGES.has(range) ? "private" : "never";
}

const STRICTNESS: Readonly<Record<AddressKind, number>> = { public: 0, private: 1, never: 2 };

function strictest(one: AddressKind, other: AddressKind): AddressKind {
  return STRICTNESS[one] >= STRICTNESS[other] ? one : other;
}
