import {
  type DomainName,
  EndpointAccessMode,
  EndpointType,
  type RestApi,
  SecurityPolicy,
} from "aws-cdk-lib/aws-apigateway";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import { ARecord, HostedZone, RecordTarget } from "aws-cdk-lib/aws-route53";
import { ApiGatewayDomain } from "aws-cdk-lib/aws-route53-targets";
import { Construct } from "constructs";
import type { Domain } from "../settings/stage-settings.ts";

/** The region's custom domain name, and its alias record if the zone is in Route 53. */
export class ApiDomain extends Construct {
  readonly domainName: DomainName;

  constructor(scope: Construct, id: string, props: { readonly api: RestApi; readonly domain: Domain }) {
    super(scope, id);
    const { host, certificate, zone } = props.domain;
    this.domainName = props.api.addDomainName("Domain", {
      domainName: host,
      certificate: Certificate.fromCertificateArn(this, "Certificate", certificate),
      endpointType: EndpointType.REGIONAL,
      securityPolicy: SecurityPolicy.TLS13_1_2_PFS_PQ_2025_09,
      endpointAccessMode: EndpointAccessMode.BASIC,
    });
    if (zone === undefined) return;
    new ARecord(this, "Alias", {
      zone: HostedZone.fromHostedZoneAttributes(this, "Zone", { hostedZoneId: zone, zoneName: host }),
      target: RecordTarget.fromAlias(new ApiGatewayDomain(this.domainName)),
    });
  }
}
