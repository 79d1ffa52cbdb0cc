# Build the webhookd image:
#
#     docker build --tag webhookd .
#
# Both images can be pinned: --build-arg GO_IMAGE=golang:1.26@sha256:... The binary is static and
# needs nothing from the final image, so that is empty; BASE_IMAGE=gcr.io/distroless/static-debian12
# adds certificates and time zones for those who want them.
ARG GO_IMAGE=golang:1.26
ARG BASE_IMAGE=scratch

FROM --platform=$BUILDPLATFORM ${GO_IMAGE} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
# With .git, from which the build info gets the version; VERSION overrides it.
COPY . .
ARG VERSION=
ARG TARGETOS TARGETARCH
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -ldflags "-s -w ${VERSION:+-X main.version=${VERSION}}" -o /out/webhookd ./cmd/webhookd

FROM ${BASE_IMAGE}
LABEL org.opencontainers.image.title="webhookd" \
      org.opencontainers.image.description="Converts Kubernetes custom resources between the versions of their CRD" \
      org.opencontainers.image.source="https://github.com/crdconvert/webhookd" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY LICENSE /LICENSE
COPY --from=build /out/webhookd /webhookd
USER 65532:65532
# The webhook, over TLS; health and metrics, without.
EXPOSE 9443 8080
ENTRYPOINT ["/webhookd"]
CMD ["serve"]
