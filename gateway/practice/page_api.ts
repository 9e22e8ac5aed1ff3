import type { FastifyInstance } from "fastify";
import type { World } from "./model.ts";

export function servePage(_app: FastifyInstance, _world: World): void {}
