//! Nodes as agents of their own: reached by path or by `tenant`, routed to their tools, kept apart from the mesh.

use axum::body::Body;
use http::{Request, StatusCode};
use serde_json::{Value, json};
use weft_proto::weft::submit_request::Start;
use weft_proto::weft::{Node, SubmitRequest, Tool};

use crate::store::lock;
use crate::world::{Reply, World, hello, rpc};

/// A world in which `lan` has one tool and `crm` two.
async fn world() -> World {
    let world = World::new().await;
    world.catalog.send_modify(|snapshot| {
        let tool =
            |name: &str| Tool { name: name.into(), description: format!("{name} rows"), read_only: true };
        let node = |id: &str, tools: &[&str]| Node {
            id: id.into(),
            name: id.into(),
            role: id.into(),
            tools: tools.iter().map(|name| tool(name)).collect(),
            ..Node::default()
        };
        snapshot.nodes = vec![node("crm", &["crm.customers", "crm.sectors"]), node("lan", &["t"])];
    });
    for _ in 0..10_000 {
        if world.get("/agents/crm/.well-known/agent-card.json").await.status == StatusCode::OK {
            return world;
        }
        tokio::task::yield_now().await;
    }
    panic!("the nodes never became agents");
}

async fn at(world: &World, path: &str, params: &Value) -> Reply {
    let request =
        Request::post(path).header("host", "127.0.0.1:8420").header("content-type", "application/json");
    let body = if path.starts_with("/rest") { params.to_string() } else { rpc("SendMessage", params) };
    world.send(request.header("a2a-version", "1.0").body(Body::from(body)).unwrap()).await
}

/// The one message that was written down since the last look.
fn submitted(world: &World) -> SubmitRequest {
    let mut all: Vec<_> = lock(&world.script.submitted).drain(..).collect();
    assert_eq!(all.len(), 1);
    all.remove(0)
}

fn naming(tenant: &str, skill: Option<&str>) -> Value {
    let mut params = hello("whatever it is");
    if !tenant.is_empty() {
        params["tenant"] = json!(tenant);
    }
    if let Some(skill) = skill {
        params["message"]["metadata"] = json!({"skillId": skill});
    }
    params
}

#[tokio::test]
async fn a_message_to_a_node_goes_to_its_tool_however_the_node_is_named() {
    let world = world().await;
    for (path, tenant) in
        [("/agents/lan/a2a", ""), ("/agents/lan/a2a", "lan"), ("/a2a", "lan"), ("/rest/lan/message:send", "")]
    {
        let reply = at(&world, path, &naming(tenant, None)).await;
        assert_eq!(reply.status, StatusCode::OK, "{path}: {reply:?}");
        let asked = submitted(&world);
        let Some(Start::Route(route)) = &asked.start else { panic!("{path}: one tool takes every text") };
        assert_eq!((route.capability.as_str(), asked.owner.as_str()), ("lan/t", "lan/local"), "{path}");
    }
}

#[tokio::test]
async fn among_several_tools_one_is_named_by_its_own_name_and_none_is_guessed() {
    let world = world().await;
    at(&world, "/agents/crm/a2a", &naming("", Some("crm.sectors"))).await;
    let asked = submitted(&world);
    let Some(Start::Route(route)) = &asked.start else { panic!("it is named") };
    assert_eq!((route.capability.as_str(), route.explicit), ("crm/crm.sectors", true));
    at(&world, "/agents/crm/a2a", &naming("", None)).await;
    assert!(matches!(submitted(&world).start, Some(Start::Parked(_))), "it asks back");
    // A skill of the mesh is none of the node's, and the other way round.
    let foreign = at(&world, "/agents/crm/a2a", &naming("", Some("sector.movement"))).await;
    assert_eq!(foreign.json()["error"]["code"], -32602);
    let inner = at(&world, "/a2a", &naming("", Some("crm/crm.sectors"))).await;
    assert_eq!(inner.json()["error"]["code"], -32602);
}

#[tokio::test]
async fn path_and_body_must_agree_and_an_unknown_node_is_said_to_be_unknown() {
    let world = world().await;
    let code = |reply: Reply| reply.json()["error"]["code"].clone();
    assert_eq!(code(at(&world, "/agents/crm/a2a", &naming("lan", None)).await), -32602);
    assert_eq!(
        at(&world, "/rest/crm/message:send", &naming("lan", None)).await.status,
        StatusCode::BAD_REQUEST
    );
    for tenant in ["nobody", "..", "a/b", "tasks", ".well-known", "CRM"] {
        let reply = at(&world, "/a2a", &naming(tenant, None)).await;
        let error = reply.json()["error"].clone();
        assert_eq!(error["code"], -32050, "{tenant}: {error}");
        assert!(error["message"].as_str().unwrap().starts_with("tenant: "), "{error}");
    }
    assert_eq!(
        at(&world, "/rest/nobody/message:send", &naming("", None)).await.status,
        StatusCode::NOT_FOUND
    );
    assert_eq!(code(at(&world, "/agents/nobody/a2a", &naming("", None)).await), -32050);
    assert_eq!(world.get("/agents/crm").await.status, StatusCode::NOT_FOUND);
    assert_eq!(world.get("/elsewhere.txt").await.status, StatusCode::NOT_FOUND);
}
