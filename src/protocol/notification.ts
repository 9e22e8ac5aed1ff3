import * as Type from "./schema.ts";

/** Characters of a notification after trimming, counted as people count (code points). */
export const NOTIFICATION_LENGTH_MAX = 2000;
export const NOTIFICATION_TITLE_LENGTH_MAX = 200;

export type NotificationTarget = { username: string } | { channel_type: string; channel_id: string };

export const DELIVERY_STATUSES = ["sent", "failed", "timeout", "no_adapter"] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

export interface NotificationDelivery {
  channel_type: string;
  channel_id: string;
  status: DeliveryStatus;
  message_id?: string;
  /** The ids of all parts, when a long text took several messages. */
  message_ids?: string[];
  reason?: string;
}

/** Body of `POST /v1/api/notify`, checked by hand in the gateway so that each refusal says what is wrong. */
export interface NotifyRequest {
  target: NotificationTarget;
  message: string;
  title?: string;
  ws_id?: string;
  notification_id?: string;
}

export interface NotifyAnswer {
  results: NotificationDelivery[];
}

export const ServiceBody = Type.Object(
  {
    service_type: Type.String({ minLength: 1, maxLength: 64 }),
    service_id: Type.String({ minLength: 1, maxLength: 128 }),
    url: Type.String({ minLength: 1, maxLength: 2048 }),
    metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { additionalProperties: false },
);
export type ServiceBody = Type.Static<typeof ServiceBody>;

/** Seconds between a gateway's heartbeats, and for how long one counts as healthy after the last. */
export const HEARTBEAT_INTERVAL_S = 30;
export const HEARTBEAT_HEALTHY_S = 120;

export const ServicesQuery = Type.Object({ service_type: Type.String({ minLength: 1, maxLength: 64 }) });

export const ServicesAnswer = Type.Object({
  services: Type.Array(
    Type.Object({
      service_type: Type.String(),
      service_id: Type.String(),
      url: Type.String(),
      metadata: Type.Record(Type.String(), Type.Unknown()),
      last_heartbeat: Type.String(),
      created: Type.String(),
    }),
  ),
});
